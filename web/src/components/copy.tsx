import { ActionIcon, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

/** Puts a text into the clipboard, also without https, where browsers offer only the old way. */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // not permitted: the old way may be
    }
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('readonly', '');
  area.style.position = 'fixed';
  area.style.opacity = '0';
  // within a dialog that holds the focus, else it is taken back before the copy
  const host = document.querySelector('[role=dialog]') ?? document.body;
  const before = document.activeElement as HTMLElement | null;
  host.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  before?.focus();
  return copied;
}

/** A button that copies a text. */
export function Copy({ text, label }: { text: string; label?: string }) {
  const { t } = useTranslation('common');
  const [copied, setCopied] = useState(false);
  const name = label ?? t('copy');
  return (
    <Tooltip label={copied ? t('copied') : name}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={copied ? t('copied') : name}
        onClick={async (event) => {
          event.stopPropagation();
          setCopied(await copyText(text));
          setTimeout(() => setCopied(false), 1500);
        }}
      >
        {copied ? <IconCheck size={14} stroke={1.8} /> : <IconCopy size={14} stroke={1.6} />}
      </ActionIcon>
    </Tooltip>
  );
}
