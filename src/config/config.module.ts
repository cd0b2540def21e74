import { Global, Module } from '@nestjs/common';
import { type Config, parseConfig, readEnvironment } from './config.js';
import { loadKeys, type SecretBox, secretBox } from './secret-box.js';

export const CONFIG = Symbol('CONFIG');
export const SECRET_BOX = Symbol('SECRET_BOX');

/** The configuration and the box for secrets, the same objects for everybody. */
@Global()
@Module({
  providers: [
    { provide: CONFIG, useFactory: (): Config => parseConfig(readEnvironment(process.cwd())) },
    {
      provide: SECRET_BOX,
      inject: [CONFIG],
      useFactory: (config: Config): SecretBox => secretBox(loadKeys(config.secretKeys, config.dataDir)),
    },
  ],
  exports: [CONFIG, SECRET_BOX],
})
export class ConfigModule {}
