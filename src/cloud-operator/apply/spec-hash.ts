import { createHash } from 'node:crypto';
import type { Json } from '../../object/json.ts';
import { canonicalJson } from './canonical-json.ts';

/** On Deployments and DaemonSets: what was wanted when they were written, whatever the server has made of it. */
export const SPEC_HASH_ANNOTATION = 'operator.openshift.io/spec-hash';

/** The order of keys does not matter (R39). */
export const specHash = (spec: Json | undefined): string =>
  createHash('sha256').update(canonicalJson(spec)).digest('hex');
