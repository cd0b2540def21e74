import { Button, Checkbox, NumberInput, PasswordInput, Radio, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { quietClient } from '~/api/client';
import { ApiError } from '~/api/errors';
import type { components } from '~/api/schema';
import { FormEnd, useApiForm } from '~/components/form';
import { Status } from '~/components/status';

type Input = components['schemas']['DatabaseInput'];

const KINDS = ['sqlite', 'postgresql', 'mysql'] as const;
const PORTS = { sqlite: 0, postgresql: 5432, mysql: 3306 };
const EMPTY = { host: 'localhost', database: 'zoneward', user: 'zoneward', password: '', ssl: false };

/** What the form says, as the API takes it. */
function inputOf(values: Values): Input {
  const { type, path, setup_code } = values;
  const server = { ...values.server, port: Number(values.server.port) };
  return {
    type,
    ...(type === 'sqlite' ? { sqlite: { path } } : { [type]: server }),
    ...(setup_code && { setup_code }),
  };
}

interface Values extends Record<string, unknown> {
  type: Input['type'];
  path: string;
  server: typeof EMPTY & { port: number | string };
  setup_code: string;
}

/** Whether a setup code is asked for, as the failure says. */
export const wantsCode = (error: unknown): boolean => error instanceof ApiError && error.reason === 'setup_code_wrong';

const SERVER_FIELDS = ['host', 'port', 'database', 'user', 'password', 'ssl'];

/** Where the data is kept: tried before it is chosen. */
export function DatabaseStep({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation('entry');
  const [tested, setTested] = useState<{ success: boolean; message: string; hasExistingData: boolean } | null>(null);
  const [testing, setTesting] = useState(false);
  const { form, onSubmit, busy, problem, fail } = useApiForm<Values>({
    initialValues: { type: 'sqlite', path: 'zoneward.db', server: { ...EMPTY, port: 5432 }, setup_code: '' },
    renamed: {
      'sqlite.path': 'path',
      ...Object.fromEntries(
        ['mysql', 'postgresql'].flatMap((kind) =>
          SERVER_FIELDS.map((field) => [`${kind}.${field}`, `server.${field}`]),
        ),
      ),
    },
    save: async (values) => {
      await quietClient.POST('/api/init/database', { body: inputOf(values) });
      onDone();
    },
  });
  const { type } = form.getValues();
  const choose = (kind: string) => {
    setTested(null);
    form.setFieldValue('type', kind as Input['type']);
    form.setFieldValue('server.port', PORTS[kind as Input['type']]);
  };
  const test = async () => {
    setTesting(true);
    setTested(null);
    try {
      const { data } = await quietClient.POST('/api/init/test-db', { body: inputOf(form.getValues()) });
      setTested(data ?? null);
    } catch (error) {
      fail(error);
    } finally {
      setTesting(false);
    }
  };
  return (
    <form onSubmit={onSubmit}>
      <Stack gap="sm">
        <Radio.Group label={t('db.kind')} value={type} onChange={choose}>
          <Stack gap={6} mt={4}>
            {KINDS.map((kind) => (
              <Radio key={kind} value={kind} label={t(`db.${kind}`)} description={t(`db.${kind}About`)} size="sm" />
            ))}
          </Stack>
        </Radio.Group>
        {type === 'sqlite' ? (
          <TextInput
            label={t('db.path')}
            description={t('db.pathHint')}
            classNames={{ input: 'zw-mono' }}
            {...form.getInputProps('path')}
          />
        ) : (
          <>
            <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
              <TextInput label={t('db.host')} required {...form.getInputProps('server.host')} />
              <NumberInput
                label={t('db.port')}
                min={1}
                max={65535}
                hideControls
                {...form.getInputProps('server.port')}
              />
            </SimpleGrid>
            <TextInput label={t('db.database')} required {...form.getInputProps('server.database')} />
            <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
              <TextInput label={t('db.user')} autoComplete="off" required {...form.getInputProps('server.user')} />
              <PasswordInput
                label={t('db.password')}
                autoComplete="off"
                visibilityToggleButtonProps={{ 'aria-label': t('showPassword'), tabIndex: 0 }}
                {...form.getInputProps('server.password')}
              />
            </SimpleGrid>
            <Checkbox label={t('db.ssl')} {...form.getInputProps('server.ssl', { type: 'checkbox' })} />
          </>
        )}
        <SetupCode
          shown={wantsCode(problem) || form.getValues().setup_code !== ''}
          {...form.getInputProps('setup_code')}
        />
        <div role="status">
          {tested && (
            <Status is={tested.success ? 'good' : 'bad'}>
              {tested.success && tested.hasExistingData
                ? t('db.existing')
                : tested.success
                  ? t('db.works')
                  : tested.message}
            </Status>
          )}
        </div>
        <FormEnd busy={busy} problem={problem} verb={t('db.use')}>
          <Button variant="default" loading={testing} onClick={() => void test()}>
            {t('db.test')}
          </Button>
        </FormEnd>
      </Stack>
    </form>
  );
}

/** The code that the service was started with: asked for once it was missed. */
export function SetupCode({ shown, ...input }: { shown: boolean }) {
  const { t } = useTranslation('entry');
  if (!shown) return null;
  return (
    <PasswordInput
      label={t('setup.code')}
      description={t('setup.codeHint')}
      autoComplete="off"
      visibilityToggleButtonProps={{ 'aria-label': t('showPassword'), tabIndex: 0 }}
      {...input}
    />
  );
}
