import { type DynamicModule, Module } from '@nestjs/common';
import { Logger } from './logger.js';

/** Provides the logger to all modules. */
@Module({})
// biome-ignore lint/complexity/noStaticOnlyClass: a module of Nest is a class
export class LoggerModule {
  static forRoot(logger: Logger): DynamicModule {
    return {
      module: LoggerModule,
      global: true,
      providers: [{ provide: Logger, useValue: logger }],
      exports: [Logger],
    };
  }
}
