import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { Copy } from './copy';
import { Dialog } from './dialog';

interface Shown {
  /** what it is for */
  text: string;
  /** a secret, or a command */
  code: string;
  /** of the code, for who hears it */
  label?: string;
  /** on the button that copies it */
  copy: string;
}

interface Props {
  title: string;
  parts: Shown[];
  /** the button: there is no way but through it */
  kept: string;
  onClose: () => void;
}

/** What is shown this once, and kept nowhere. */
export function SecretDialog({ title, parts, kept, onClose }: Props) {
  return (
    <Dialog opened title={title} closable={false} onClose={() => undefined} size="lg">
      <Stack gap="md">
        {parts.map(({ text, code, label, copy }) => (
          <div key={code}>
            <Text fz="sm" mb="sm">
              {text}
            </Text>
            <Group gap="xs" wrap="nowrap" align="flex-start">
              <Code
                block
                style={{ flex: 1, minWidth: 0, overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}
                {...(label && { 'aria-label': label })}
              >
                {code}
              </Code>
              <Copy text={code} label={copy} />
            </Group>
          </div>
        ))}
        <Button ml="auto" onClick={onClose}>
          {kept}
        </Button>
      </Stack>
    </Dialog>
  );
}
