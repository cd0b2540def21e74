import { Global, Module } from '@nestjs/common';
import { getDataSourceToken, getRepositoryToken } from '@nestjs/typeorm';
import { AppDataSource } from './app-data-source.js';
import { DatabaseService } from './database.service.js';
import { Db } from './db.js';
import { ENTITIES } from './entities.js';
import { Leases } from './leases.js';

const repositories = ENTITIES.map((entity) => ({
  provide: getRepositoryToken(entity),
  inject: [AppDataSource],
  useFactory: (source: AppDataSource) => source.getRepository(entity),
}));

/** The one DataSource, its repositories (`@InjectRepository`), plain SQL and leases. */
@Global()
@Module({
  providers: [
    { provide: AppDataSource, useFactory: () => new AppDataSource(ENTITIES) },
    { provide: getDataSourceToken(), useExisting: AppDataSource },
    ...repositories,
    Db,
    Leases,
    DatabaseService,
  ],
  exports: [AppDataSource, Db, Leases, DatabaseService, ...repositories.map((r) => r.provide)],
})
export class DatabaseModule {}
