/** For fields of names, values and all else that is typed at a machine: the value alone is monospaced, not the label. */
export const mono = { input: { fontFamily: 'var(--mantine-font-family-monospace)' } };
