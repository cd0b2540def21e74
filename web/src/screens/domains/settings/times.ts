const pad = (n: number) => String(n).padStart(2, '0');

/** A time as `<input type="datetime-local">` has it, by the clock of this browser. */
export function toLocal(iso: string | null | undefined): string {
  if (!iso) return '';
  const at = new Date(iso);
  const day = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${day}T${pad(at.getHours())}:${pad(at.getMinutes())}`;
}

/** The same back; what is no time stays as it is, for the server to say so. */
export function toIso(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? local : at.toISOString();
}

/** Words between commas or blanks. */
export const wordsOf = (text: string): string[] => text.split(/[\s,，]+/).filter(Boolean);
