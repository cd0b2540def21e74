import { ApiError } from '~/api/errors';
import type { Field } from './providers';

/** Whether the provider was asked, and did not take the credentials. */
export const isRefusal = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 500002;

/**
 * A failure of the provider as one of the fields that it is about: a refused key stands beside the secrets, a server
 * that is not found beside its address. Others stay as they are.
 */
export function besideFields(error: unknown, fields: readonly Field[], filled: (key: string) => boolean): unknown {
  if (!isRefusal(error)) return error;
  const about = {
    provider_auth: ({ secret }: Field) => secret,
    provider_unavailable: ({ address }: Field) => Boolean(address),
    provider_not_found: ({ address }: Field) => Boolean(address),
  }[error.reason ?? ''];
  const meant = about ? fields.filter((field) => about(field) && filled(field.key)) : [];
  if (meant.length === 0) return error;
  const errors = meant.map(({ key }) => ({ path: `credentials.${key}`, message: error.message }));
  return new ApiError(error.status, error.code, error.message, { ...error.data, errors }, error.requestId);
}
