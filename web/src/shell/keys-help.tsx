import { Kbd, Table } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Dialog } from '~/components/dialog';
import { keysOfScreen } from './keys';
import { PLACES } from './places';

const ALWAYS = ['mod+k', '?', '/', 'c'] as const;
const IN_TABLES = ['↑ ↓', 'Enter'] as const;

/** What the keys do. */
export default function KeysHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation('shell');
  const mod = /Mac|iP(hone|ad)/.test(navigator.userAgent) ? '⌘' : 'Ctrl';
  const rows: [string, string][] = [
    ...ALWAYS.map((key): [string, string] => [key.replace('mod+', `${mod} `), t(`keys.${key.replace('+', '_')}`)]),
    ...IN_TABLES.map((key): [string, string] => [key, t(`keys.${key === 'Enter' ? 'enter' : 'arrows'}`)]),
    ...keysOfScreen().map(({ key, words }): [string, string] => [key, words]),
    ...PLACES.filter(({ letter }) => letter).map(({ key, letter }): [string, string] => [
      `g ${letter}`,
      t(`place.${key}`),
    ]),
  ];
  return (
    <Dialog opened={opened} onClose={onClose} title={t('keys.title')} size="sm">
      <Table verticalSpacing={4}>
        <Table.Tbody>
          {rows.map(([keys, words]) => (
            <Table.Tr key={keys}>
              <Table.Th scope="row" w={110} fw={400}>
                {keys.split(' ').map((key) => (
                  <Kbd key={key} mr={4}>
                    {key}
                  </Kbd>
                ))}
              </Table.Th>
              <Table.Td>{words}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Dialog>
  );
}
