import { Button, Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import type { Tagged } from '~/api/tagged';
import { FormEnd, useApiForm } from '~/components/form';
import { notifyDone } from '~/components/notify';
import { Section } from '~/components/screen';
import type { Ingress, Tunnel } from './tunnel';
import classes from './tunnels.module.css';

/** The rules of a tunnel, from the first to the last: what is asked for a name goes to its service. */
export function IngressEditor({ tunnel, save }: { tunnel: Tunnel; save: Tagged<Tunnel>['save'] }) {
  const { t } = useTranslation('tunnels');
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: {
      ingress: tunnel.ingress.map((rule) => ({ ...rule, hostname: rule.hostname ?? '', path: rule.path ?? '' })),
      dns_managed: tunnel.dns_managed,
    },
    save: async ({ ingress, dns_managed }) => {
      const body = {
        ...(tunnel.version !== null && { version: tunnel.version }),
        ingress: ingress.map(({ path, ...rule }) => ({ ...rule, ...(path && { path }) })) as Ingress[],
        dns_managed,
      };
      await save((headers) => client.PUT('/api/tunnels/{id}', { params: { path: { id: tunnel.id } }, headers, body }));
      await invalidate('/api/tunnels', '/api/domains');
      notifyDone(t('ingress.saved'));
    },
  });
  const { ingress } = form.getValues();
  return (
    <Section
      title={t('ingress.title')}
      actions={
        <Button
          variant="default"
          onClick={() =>
            // the last one is for all else
            form.insertListItem('ingress', { hostname: '', path: '', service: '' }, Math.max(0, ingress.length - 1))
          }
        >
          {t('ingress.add')}
        </Button>
      }
    >
      <form onSubmit={onSubmit} className={classes.form}>
        <Stack gap="sm">
          <Text fz="sm" c="dimmed">
            {t('ingress.about')}
          </Text>
          {ingress.map((_, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rules have nothing else to be told by
            <fieldset key={i} className={classes.rule}>
              <legend className={classes.legend}>{t('ingress.rule', { number: i + 1 })}</legend>
              {(['hostname', 'path', 'service'] as const).map((key) => (
                <TextInput
                  key={key}
                  size="xs"
                  label={t(`ingress.${key}`)}
                  placeholder={key === 'hostname' ? '*' : key === 'service' ? 'http://localhost:8080' : ''}
                  spellCheck={false}
                  classNames={{ input: 'zw-mono' }}
                  {...form.getInputProps(`ingress.${i}.${key}`)}
                />
              ))}
              <Button
                variant="subtle"
                aria-label={t('ingress.remove', { number: i + 1 })}
                onClick={() => form.removeListItem('ingress', i)}
              >
                {t('ingress.removeIt')}
              </Button>
            </fieldset>
          ))}
          <Checkbox label={t('new.dns')} {...form.getInputProps('dns_managed', { type: 'checkbox' })} />
        </Stack>
        <FormEnd busy={busy} problem={problem} verb={t('ingress.save')} />
      </form>
    </Section>
  );
}
