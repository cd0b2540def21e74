import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Part, TypeView } from './fields';
import classes from './record-form.module.css';

interface Props {
  type: TypeView;
  /** of each part; null: the value is put in as a whole */
  texts: string[] | null;
  whole: string;
  /** what is wrong with each part, by its position; -1: with the value */
  problems: Record<number, string>;
  onChange: (texts: string[] | null, whole: string) => void;
}

const WIDTHS: Record<string, string> = { integer: '92px', choice: '92px', word: '120px', decimal: '92px' };

/** The fields of a record's value: one for each part that the type has. */
export function ValueFields({ type, texts, whole, problems, onChange }: Props) {
  const { t } = useTranslation('zone');
  const { parts, example } = type.value;
  if (!texts || parts.length === 1) {
    const part = parts[0] as Part;
    const label = texts ? t(`part.${part.name}`) : t('form.value');
    const value = texts ? (texts[0] ?? '') : whole;
    const shared = {
      label,
      value,
      error: problems[-1] ?? problems[0],
      placeholder: example.length > 60 ? '' : example,
      spellCheck: false,
      autoComplete: 'off',
      classNames: { input: 'zw-mono' },
      onChange: (event: { currentTarget: { value: string } }) => {
        const text = event.currentTarget.value;
        onChange(texts && [text], text);
      },
    };
    const isLong = part.kind === 'text' || example.length > 60 || !texts;
    return (
      <div className={classes.value}>
        {isLong ? (
          <Textarea {...shared} size="sm" autosize minRows={1} maxRows={8} />
        ) : (
          <TextInput {...shared} size="sm" />
        )}
      </div>
    );
  }
  return (
    <div className={classes.parts}>
      {parts.map((part, i) => {
        const shared = {
          label: t(`part.${part.name}`),
          value: texts[i] ?? '',
          error: problems[i] ?? (i === parts.length - 1 ? problems[-1] : undefined),
          size: 'sm',
          style: WIDTHS[part.kind] ? { width: WIDTHS[part.kind] } : { flex: '1 1 200px' },
          onChange: (event: { currentTarget: { value: string } }) => {
            const text = event.currentTarget.value;
            onChange(texts.with(i, text), whole);
          },
        };
        return part.values ? (
          <NativeSelect key={part.name} {...shared} data={['', ...part.values]} />
        ) : (
          <TextInput
            key={part.name}
            {...shared}
            placeholder={part.example.length > 40 ? '' : part.example}
            inputMode={part.kind === 'integer' ? 'numeric' : undefined}
            spellCheck={false}
            autoComplete="off"
            classNames={{ input: 'zw-mono' }}
          />
        );
      })}
    </div>
  );
}
