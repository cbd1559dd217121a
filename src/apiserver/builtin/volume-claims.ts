import type { JsonObject } from '../../object/json.ts';
import { metadataOf, setDefault, textsAt } from './fields.ts';

/** Also for the claim templates inside pods and stateful sets. */
export const claimSpecDefaults = (spec: JsonObject): void => setDefault(spec, 'volumeMode', 'Filesystem');

/** Whoever uses a volume, a claim or a class keeps it from being deleted. */
export function protect(object: JsonObject, finalizer: string): void {
  const metadata = metadataOf(object);
  const finalizers = textsAt(metadata, 'finalizers');
  if (!finalizers.includes(finalizer)) metadata['finalizers'] = [...finalizers, finalizer];
}
