/** Frames of server-sent events in what has come so far, and the rest. */
export function framesOf(text: string): { frames: { id?: string; event?: string; data: string }[]; rest: string } {
  const parts = text.split('\n\n');
  const rest = parts.pop() ?? '';
  const frames = parts.map((part) => {
    const fields: Record<string, string> = {};
    for (const line of part.split('\n')) {
      const [, name, value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? [];
      if (name) fields[name] = name in fields ? `${fields[name]}\n${value}` : value;
    }
    return { ...fields, data: fields.data ?? '' };
  });
  return { frames, rest };
}
