import { retryError, type SlipwayError, userError } from '../base/errors.ts';

/** Somebody may push it, or put it into the mirror, any minute. */
export const imageNotFound = (message: string): SlipwayError => retryError('ImageNotFound', message);

/** Whoever has the rights may give them; credentials are elsewhere, so nobody tells us. */
export const registryUnauthorized = (message: string): SlipwayError => retryError('RegistryUnauthorized', message);

export const registryUnavailable = (
  message: string,
  options?: { readonly cause?: unknown; readonly retryAfterMs?: number },
): SlipwayError => retryError('RegistryUnavailable', message, options);

/** What came is what was asked for, and is no image that we can read. */
export const invalidImage = (message: string): SlipwayError => userError('InvalidImage', message);
