import { useEffect, useRef, useState } from 'react';

const TYPING_MS = 300;

/**
 * The text of a filter that is told once the typing pauses. What else sets the filter, such as a link, a saved view or
 * the way back, shows in the field; what is being typed is not touched when what was told before arrives.
 */
export function useTypedFilter(
  value: string,
  tell: (text: string) => void,
  pauseMs = TYPING_MS,
): [text: string, type: (text: string) => void] {
  const [text, setText] = useState(value);
  /** told, and not there yet: the address follows a little later */
  const coming = useRef<string[]>([]);
  const latest = useRef(tell);
  latest.current = tell;
  const before = useRef(value);
  useEffect(() => {
    if (value === before.current) return;
    before.current = value;
    const at = coming.current.indexOf(value);
    coming.current.splice(0, at < 0 ? coming.current.length : at + 1);
    if (at < 0) setText(value);
  }, [value]);
  useEffect(() => {
    const meant = text.trim();
    if (meant === (coming.current.at(-1) ?? before.current)) return;
    const timer = setTimeout(() => {
      coming.current.push(meant);
      latest.current(meant);
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [text, pauseMs]);
  return [text, setText];
}
