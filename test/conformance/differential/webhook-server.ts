import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { CertificateAuthority } from '../../../src/pki/certificate-authority.ts';

const VALIDITY_MS = 3_600_000;

/** How a webhook of a case behaves. */
export interface Behaviour {
  /** The `response` of an AdmissionReview; `patch` may be a list of operations, and the uid is filled in. */
  readonly response?: Readonly<Record<string, unknown>>;
  /** Answers this status and text instead of a review. */
  readonly http?: { readonly status: number; readonly text: string };
  /** Answers an AdmissionReview of this version. */
  readonly apiVersion?: string;
  /** Converts: moves between fields of `spec` by version, or breaks the rules of conversion in a known way. */
  readonly convert?:
    | 'host-port'
    | 'rename'
    | 'rename-and-keep'
    | 'fail'
    | 'drop-one'
    | 'wrong-uid'
    | 'change-metadata'
    | 'change-labels';
}

/** What was asked of a webhook. */
export interface Call {
  readonly query: string;
  readonly contentType: string;
  readonly review: unknown;
}

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: { readonly uid: string; readonly desiredAPIVersion?: string; readonly objects?: Item[] };
}
interface Item {
  apiVersion: string;
  metadata: Record<string, unknown>;
  spec?: Record<string, unknown> & { hostPort?: string; host?: string; port?: string };
}

/** One TLS server for all webhooks of all cases and both servers, told apart by path. */
export class WebhookServer implements AsyncDisposable {
  readonly #behaviours = new Map<string, Behaviour>();
  readonly #calls = new Map<string, Call[]>();
  readonly #server: ReturnType<typeof createServer>;
  readonly authorityPem: string;

  private constructor(authorityPem: string, credential: { key: string; cert: string }) {
    this.authorityPem = authorityPem;
    this.#server = createServer(credential, (request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<WebhookServer> {
    const validity = { now: new Date(), validityMs: VALIDITY_MS };
    const authority = await CertificateAuthority.create({ commonName: 'differential-webhooks', ...validity });
    const { certificatePem, keys } = await authority.issue({
      kind: 'serving',
      commonName: 'webhooks',
      dnsNames: ['localhost'],
      ipAddresses: ['127.0.0.1'],
      ...validity,
    });
    const server = new WebhookServer(authority.certificatePem, { key: keys.privateKeyPem, cert: certificatePem });
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  behave(path: string, behaviour: Behaviour): void {
    this.#behaviours.set(path, behaviour);
  }

  calls(path: string): readonly Call[] {
    return this.#calls.get(path) ?? [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search } = new URL(request.url ?? '/', this.url);
    const review = (await json(request)) as Review;
    const call = { query: search, contentType: request.headers['content-type'] ?? '', review };
    this.#calls.set(pathname, [...this.calls(pathname), call]);
    const { http, ...behaviour } = this.#behaviours.get(pathname) ?? { http: { status: 404, text: 'nobody' } };
    if (http !== undefined) {
      response.writeHead(http.status, { 'content-type': 'text/plain' }).end(http.text);
      return;
    }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(answerTo(review, behaviour)));
  }
}

function answerTo({ apiVersion, kind, request }: Review, behaviour: Behaviour): unknown {
  const head = { apiVersion: behaviour.apiVersion ?? apiVersion, kind };
  if (behaviour.convert !== undefined) return { ...head, response: conversion(request, behaviour.convert) };
  const { patch, ...rest } = behaviour.response ?? {};
  const encoded =
    patch === undefined
      ? {}
      : { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
  return { ...head, response: { uid: request.uid, ...encoded, ...rest } };
}

type Mode = NonNullable<Behaviour['convert']>;

function conversion({ uid, desiredAPIVersion = '', objects = [] }: Review['request'], mode: Mode): unknown {
  if (mode === 'fail') return { uid, result: { status: 'Failed', message: 'no way back' } };
  const converted = objects.map((object) => spoil(convertAs(mode, object, desiredAPIVersion), mode));
  return {
    uid: mode === 'wrong-uid' ? 'another' : uid,
    result: { status: 'Success' },
    convertedObjects: mode === 'drop-one' ? converted.slice(1) : converted,
  };
}

const convertAs = (mode: Mode, object: Item, apiVersion: string): Item =>
  mode.startsWith('rename') ? rename(object, apiVersion, mode === 'rename-and-keep') : convert(object, apiVersion);

/** v1 has `hostPort: "a:1"`, v2 has `host: a` and `port: "1"`. */
function convert(object: Item, apiVersion: string): Item {
  const { hostPort, host, port, ...rest } = object.spec ?? {};
  if (apiVersion.endsWith('/v1')) {
    return { ...object, apiVersion, spec: { ...rest, hostPort: `${host ?? ''}:${port ?? ''}` } };
  }
  const [newHost = '', newPort = ''] = (hostPort ?? '').split(':');
  return { ...object, apiVersion, spec: { ...rest, host: newHost, port: newPort } };
}

/** What a field of `spec` is called in v1, v2 and v3. */
const RENAMED = [
  ['color', 'colour', 'paint'],
  ['parts', 'pieces', 'bits'],
] as const;

function rename(object: Item, apiVersion: string, keeps: boolean): Item {
  const spec = { ...object.spec };
  const nameIn = (names: (typeof RENAMED)[number], version: string) => names[Number(version.slice(-1)) - 1] ?? '';
  for (const names of RENAMED) {
    const from = nameIn(names, object.apiVersion);
    const value = spec[from];
    if (value === undefined) continue;
    if (!keeps) delete spec[from];
    spec[nameIn(names, apiVersion)] = value;
  }
  return { ...object, apiVersion, ...(object.spec !== undefined && { spec }) };
}

function spoil(object: Item, mode: Mode): Item {
  if (mode === 'change-metadata') return { ...object, metadata: { ...object.metadata, name: 'other' } };
  if (mode === 'change-labels') return { ...object, metadata: { ...object.metadata, labels: { by: 'webhook' } } };
  return object;
}
