import { useTranslation } from 'react-i18next';
import type { components } from '~/api/schema';
import classes from './tokens.module.css';

interface Props {
  rules: components['schemas']['RuleInput'][];
  nameOf: (domain: number) => string;
}

/** Rules in words, in their order. */
export function RuleWords({ rules, nameOf }: Props) {
  const { t } = useTranslation('tokens');
  if (rules.length === 0) return <>{t('deniesAll')}</>;
  return (
    <ol className={classes.ruleList}>
      {rules.map(({ effect, actions, types, hosts, domains, values, ttl }, i) => {
        const { text } = values ?? {};
        const parts: [string, string | undefined][] = [
          [t('hosts'), hosts?.join(', ')],
          [t('ruleDomains'), domains?.map(nameOf).join(', ')],
          [t('cidrs'), values?.cidrs?.join(', ')],
          [t('suffixes'), values?.suffixes?.join(', ')],
          [t('pattern'), text?.pattern],
          [
            t('textLength'),
            text && (text.min_length ?? text.max_length) !== undefined
              ? `${text.min_length ?? 0}–${text.max_length ?? '∞'}`
              : undefined,
          ],
          ['TTL', ttl && `${ttl.min ?? 0}–${ttl.max ?? '∞'}`],
        ];
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: rules have no names
          <li key={i}>
            <b>{t(effect)}</b>{' '}
            {actions?.length ? actions.map((action) => t(`action.${action}`)).join(', ') : t('anything')}
            {' · '}
            {types?.length ? types.join(', ') : t('anyType')}
            {parts.flatMap(([name, value]) =>
              value
                ? [
                    <span key={name}>
                      {' · '}
                      {name} <span className="zw-mono">{value}</span>
                    </span>,
                  ]
                : [],
            )}
          </li>
        );
      })}
    </ol>
  );
}
