import { TextInput, type TextInputProps } from '@mantine/core';
import { useTimeZone } from './time';
import { toIso, toLocal } from './zoned';

interface Props extends Omit<TextInputProps, 'type' | 'value' | 'defaultValue' | 'onChange' | 'description'> {
  /** ISO 8601; '' or null: none */
  value?: string | null;
  onChange?: (iso: string) => void;
}

/** A time, by the clock of the user's time zone as all times of the console are; the zone stands beside it. */
export function DateTimeField({ value, onChange, ...rest }: Props) {
  const zone = useTimeZone();
  return (
    <TextInput
      {...rest}
      type="datetime-local"
      description={zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone}
      value={toLocal(value, zone)}
      onChange={(event) => onChange?.(toIso(event.currentTarget.value, zone))}
    />
  );
}
