import type { KubeObject } from '../api/object.ts';

/** Metadata of a patch that is refused by another object of the same name: what is meant for one must not reach it. */
export const meant = ({ metadata: { uid } }: KubeObject): Readonly<Record<string, string>> =>
  uid === undefined ? {} : { uid };
