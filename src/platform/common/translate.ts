import { AppError } from './errors.js';
import type { FieldError } from './words/codes.js';
import { fieldMessageIn } from './words/field-words.js';
import { isReason, type Params, REASONS, wordsOf } from './words/reasons.js';
import type { MessageLanguage } from './words/words.js';

interface Told {
  reason?: unknown;
  params?: Params;
  errors?: FieldError[];
}

const listed = (errors: readonly FieldError[]) => errors.map(({ path, message }) => `${path}: ${message}`).join('; ');

/** A change of a list that does not fit for another reason than a wrong field has that reason in its params. */
function fieldIn(language: MessageLanguage, field: FieldError): string {
  const { reason, ...params } = field.params ?? {};
  return isReason(reason) ? wordsOf(language, reason, params as Params) : fieldMessageIn(language, field);
}

/** An error with its message, and those of its fields, in a language. The rest stays as it is. */
export function inLanguage(error: AppError, language: MessageLanguage): AppError {
  if (language === 'en') return error;
  const { reason, params, errors } = (error.data ?? {}) as Told;
  if (!isReason(reason)) return error;
  // what a provider said stays as it is, inside of our words
  const values = REASONS[reason].kind === 'provider' ? { ...params, words: error.message } : params;
  const english = wordsOf('en', reason, values);
  const own = wordsOf(language, reason, values);
  const fields = errors?.map((field) => ({
    ...field,
    message: field.message === english ? own : fieldIn(language, field),
  }));
  // a refused list says why its first change does not fit
  const first = reason === 'changes_do_not_fit' ? fields?.[0]?.message : undefined;
  const words = first === undefined ? own : wordsOf(language, reason, { ...values, words: first });
  const before = error.message.endsWith(english) ? error.message.slice(0, -english.length) : '';
  const message = reason === 'invalid_fields' && fields ? listed(fields) : before + words;
  const data = fields ? { ...(error.data as Told), errors: fields } : error.data;
  return new AppError(error.status, error.code, message, data, error.retryAfterSeconds);
}
