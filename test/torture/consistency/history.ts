/** An object as somebody saw it. `text` is all of it but kind, apiVersion and resourceVersion, to be compared. */
export interface Seen {
  readonly key: string;
  readonly revision: number;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Objects of one collection that a read or a watch is about. */
export interface View {
  readonly collection: string;
  /** Empty: all of them. */
  readonly namespace: string;
  /** Only objects with this label, `key=value`; empty: all. */
  readonly selector: string;
}

interface Request {
  readonly client: string;
  readonly invokedAt: number;
  /** Infinity when no answer came. */
  readonly returnedAt: number;
  /** 0 when no answer came. */
  readonly status: number;
}

/** A write of one object. Deletes say in `seen` what they removed as far as it is known: its uid. */
export interface Write extends Request {
  readonly kind: 'create' | 'update' | 'patch' | 'delete';
  readonly collection: string;
  readonly key: string;
  /** What the object must be at. */
  readonly expected?: { readonly revision?: number; readonly uid?: string };
  readonly seen?: Seen;
  readonly uid?: string;
}

export interface CollectionDelete extends Request {
  readonly kind: 'deletecollection';
  readonly view: View;
}

export interface Get extends Request {
  readonly kind: 'get';
  readonly collection: string;
  readonly key: string;
  readonly seen?: Seen;
}

/** A list, or one page of it. */
export interface List extends Request {
  readonly kind: 'list';
  readonly view: View;
  readonly resourceVersion: string;
  readonly match: '' | 'Exact' | 'NotOlderThan';
  /** Pages with the same one belong together, in order. */
  readonly chain?: string;
  readonly hasMore: boolean;
  readonly revision: number;
  readonly items: readonly Seen[];
}

export type Operation = Write | CollectionDelete | Get | List;

export interface Frame {
  readonly type: string;
  readonly revision: number;
  /** Of an ERROR. */
  readonly code: number;
  readonly isInitialEnd: boolean;
  readonly seen?: Seen;
}

export interface Watch {
  readonly client: string;
  readonly view: View;
  readonly resourceVersion: string;
  readonly sendsInitial: boolean;
  readonly openedAt: number;
  readonly frames: readonly Frame[];
  /** The watch was open until everything up to here had been sent to it; 0: it ended before. */
  readonly openUntil: number;
}

export interface Compaction {
  readonly revision: number;
  readonly invokedAt: number;
  readonly returnedAt: number;
}

/** Everything that was done to a server and everything it said (T4.1). */
export interface History {
  readonly operations: readonly Operation[];
  readonly watches: readonly Watch[];
  /** The events of one watcher of everything, by collection. */
  readonly truth: ReadonlyMap<string, readonly Frame[]>;
  readonly compactions: readonly Compaction[];
  /** The server forgets on its own as well: upstream's cache of events is small. */
  readonly forgetsByItself: boolean;
  /** Before any of this. */
  readonly baseRevision: number;
}

export interface Violation {
  readonly rule: string;
  readonly message: string;
}

interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface ApiObject {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: Metadata;
  readonly [field: string]: unknown;
}

export function seenOf({ kind: _kind, apiVersion: _apiVersion, metadata, ...rest }: ApiObject): Seen {
  const { resourceVersion = '0', ...others } = metadata ?? { name: '' };
  const { namespace = '', name, uid = '', labels = {} } = others;
  return {
    key: `${namespace}/${name}`,
    revision: Number(resourceVersion),
    uid,
    labels,
    text: JSON.stringify({ metadata: others, ...rest }),
  };
}

const INITIAL_END = 'k8s.io/initial-events-end';

export function frameOf(line: string): Frame {
  const { type, object }: { type: string; object: ApiObject & { code?: number } } = JSON.parse(line);
  const revision = Number(object.metadata?.resourceVersion ?? 0);
  const isInitialEnd = object.metadata?.annotations?.[INITIAL_END] === 'true';
  const isChange = type !== 'BOOKMARK' && type !== 'ERROR';
  return { type, revision, code: object.code ?? 0, isInitialEnd, ...(isChange && { seen: seenOf(object) }) };
}

export function isIn({ namespace, selector }: View, { key, labels }: Seen): boolean {
  if (namespace !== '' && !key.startsWith(`${namespace}/`)) return false;
  if (selector === '') return true;
  const [name = '', value] = selector.split('=');
  return labels[name] === value;
}

/** Made by the cluster in every namespace, not by the traffic. */
export const isForeign = ({ key }: Seen): boolean => key.endsWith('/kube-root-ca.crt');
