import type { CallContext, Creation } from './call.ts';

/** How the store is spoken to. */
export interface ObjectStoreFacts {
  /** Whether it speaks the protocol of S3, which the image registry of OpenShift needs. */
  readonly s3: boolean;
  readonly pathStyle: boolean;
}

/** What a client needs to use a bucket. */
export interface Bucket {
  readonly name: string;
  readonly region: string;
  readonly endpoint: string;
}

/** Buckets for objects: the image registry, ignition files. */
export interface ObjectStore<C extends CallContext = CallContext> {
  declare(): ObjectStoreFacts;
  ensure(bucket: Creation, call: C): Promise<Bucket>;
  put(bucket: string, object: { readonly key: string; readonly content: Uint8Array }, call: C): Promise<void>;
  /** A URL that gives the object to whoever has it, for so long. */
  link(bucket: string, object: { readonly key: string; readonly seconds: number }, call: C): Promise<string>;
  remove(bucket: string, call: C): Promise<void>;
}
