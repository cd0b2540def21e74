import { Global, Module } from '@nestjs/common';
import { TraceExport } from './trace-export.js';
import { Traces } from './traces.js';

/** Serves all contexts. */
@Global()
@Module({ providers: [Traces], exports: [Traces] })
export class TracesModule {}

/** Hands them over: only the service imports it. */
@Module({ providers: [TraceExport] })
export class TraceExportModule {}
