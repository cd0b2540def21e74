import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';

interface Compared {
  before: string;
  after: string;
  /** one above the other, instead of side by side */
  isNarrow: boolean;
  isReadOnly: boolean;
  labels: { before: string; after: string };
  onChange: (text: string) => void;
}

const DIFF = { scanLimit: 2000, timeout: 300 };

const THEME = EditorView.theme({
  '&': { fontSize: '13px', backgroundColor: 'transparent', color: 'inherit' },
  '.cm-content': { fontFamily: 'var(--mantine-font-family-monospace)', caretColor: 'var(--mantine-color-text)' },
  '.cm-gutters': {
    backgroundColor: 'var(--zw-sunk)',
    color: 'var(--mantine-color-dimmed)',
    border: 'none',
    fontFamily: 'var(--mantine-font-family-monospace)',
  },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '&.cm-focused': { outline: '2px solid var(--mantine-color-anchor)', outlineOffset: '-2px' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in srgb, var(--mantine-color-petrol-5), transparent 60%) !important',
  },
  '&.cm-merge-b .cm-changedLine, .cm-insertedLine, &.cm-merge-b .cm-inlineChangedLine': {
    backgroundColor: 'var(--zw-good-soft)',
  },
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': { backgroundColor: 'var(--zw-bad-soft)' },
  '.cm-changedText, .cm-deletedText, .cm-insertedLine .cm-changedText': {
    background: 'none !important',
    textDecoration: 'underline',
    textDecorationThickness: '1px',
  },
  '.cm-panels': { backgroundColor: 'var(--zw-sunk)', color: 'var(--mantine-color-text)' },
});

/**
 * An editor of a text beside what it was.
 * @returns what ends it
 */
export function compare(
  parent: HTMLElement,
  { before, after, isNarrow, isReadOnly, labels, onChange }: Compared,
): () => void {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
  const shared = (label: string): Extension[] => [
    EditorView.cspNonce.of(nonce),
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
    EditorView.lineWrapping,
    lineNumbers(),
    THEME,
  ];
  const written: Extension[] = [
    ...shared(labels.after),
    ...(isReadOnly
      ? [EditorState.readOnly.of(true), EditorView.contentAttributes.of({ 'aria-readonly': 'true' })]
      : []),
    history(),
    drawSelection(),
    search({ top: true }),
    highlightSelectionMatches(),
    keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap]),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) onChange(state.doc.toString());
    }),
  ];
  if (isNarrow) {
    const merge = unifiedMergeView({ original: before, diffConfig: DIFF, mergeControls: false });
    const view = new EditorView({ parent, doc: after, extensions: [...written, merge] });
    return () => view.destroy();
  }
  const view = new MergeView({
    parent,
    a: {
      doc: before,
      extensions: [...shared(labels.before), EditorState.readOnly.of(true), EditorView.editable.of(false)],
    },
    b: { doc: after, extensions: written },
    diffConfig: DIFF,
    gutter: true,
  });
  return () => view.destroy();
}
