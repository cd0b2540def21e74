import { type DynamicModule, Module } from '@nestjs/common';
import { getDataSourceToken, getRepositoryToken } from '@nestjs/typeorm';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';
import { EventsModule } from '../events/events.module.js';
import { AppDataSource } from './app-data-source.js';
import { DatabaseService } from './database.service.js';
import { Db } from './db.js';
import { Installation } from './installation.js';
import { Leases } from './leases.js';
import { SealedValues } from './sealed-values.js';

/** An entity, as TypeORM and its tokens take it. */
type EntityClass = new () => object;

/** The one DataSource, its repositories (`@InjectRepository`), plain SQL and leases. */
@Module({})
// biome-ignore lint/complexity/noStaticOnlyClass: a module of Nest is a class
export class DatabaseModule {
  /** @param entities every table of the schema: the contexts bring them, this folder knows none */
  static forRoot(entities: EntityClass[]): DynamicModule {
    const repositories = entities.map((entity) => ({
      provide: getRepositoryToken(entity),
      inject: [AppDataSource],
      useFactory: (source: AppDataSource) => source.getRepository(entity),
    }));
    return {
      module: DatabaseModule,
      global: true,
      imports: [EventsModule],
      providers: [
        {
          provide: AppDataSource,
          inject: [CONFIG],
          useFactory: ({ databaseTimeoutMs }: Config) => new AppDataSource(entities, databaseTimeoutMs),
        },
        { provide: getDataSourceToken(), useExisting: AppDataSource },
        ...repositories,
        Db,
        Leases,
        SealedValues,
        DatabaseService,
        Installation,
      ],
      exports: [
        AppDataSource,
        Db,
        Leases,
        SealedValues,
        DatabaseService,
        Installation,
        ...repositories.map((r) => r.provide),
      ],
    };
  }
}
