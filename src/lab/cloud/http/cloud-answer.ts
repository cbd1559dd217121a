import type { Readable } from 'node:stream';
import type { Json } from '../../../object/json.ts';

/** What a client is told. */
export interface CloudAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
  /** Bytes instead of a body, made when they are sent; `content-length` is among the headers. */
  readonly stream?: () => Readable;
}
