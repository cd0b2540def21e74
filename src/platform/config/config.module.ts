import { type DynamicModule, Module } from '@nestjs/common';
import type { Config } from './config.js';
import { keyStamp, loadKeys, readKeys, type SecretBox, secretBox } from './secret-box.js';

export const CONFIG = Symbol('CONFIG');
export const SECRET_BOX = Symbol('SECRET_BOX');

/** Provides the configuration and the secret box to all modules. */
@Module({})
// biome-ignore lint/complexity/noStaticOnlyClass: a module of Nest is a class
export class ConfigModule {
  static forRoot(config: Config): DynamicModule {
    return {
      module: ConfigModule,
      global: true,
      providers: [
        { provide: CONFIG, useValue: config },
        {
          provide: SECRET_BOX,
          useFactory: (): SecretBox =>
            secretBox(
              () => readKeys(config.secretKeys, config.dataDir),
              () => loadKeys(config.secretKeys, config.dataDir),
              () => keyStamp(config.secretKeys, config.dataDir),
            ),
        },
      ],
      exports: [CONFIG, SECRET_BOX],
    };
  }
}
