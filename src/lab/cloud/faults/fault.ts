import { z } from 'zod';
import { CLOUD_ERROR_CODES, type CloudErrorCode, statusOfCode } from '../cloud-error.ts';
import type { Tags } from '../resources/resource-record.ts';
import { LONGEST_STALE_MS } from '../state/cloud-state.ts';

const LONGEST_DELAY_MS = 3_600_000;

const match = z.strictObject({
  method: z.string().toUpperCase().optional(),
  /** `*` stands for any text. */
  path: z.string().startsWith('/').optional(),
  kind: z.string().optional(),
  /** Of the object, or of the one to be created: all of them. */
  tag: z.record(z.string(), z.string()).optional(),
  /** Only the n-th request that matches otherwise. */
  nth: z.int().min(1).optional(),
  probability: z.number().min(0).max(1).optional(),
});

const effect = z
  .strictObject({
    status: z.int().min(400).max(599).optional(),
    code: z.enum(CLOUD_ERROR_CODES).optional(),
    /** Lab time, before anything is done. */
    delayMs: z.int().min(0).max(LONGEST_DELAY_MS).optional(),
    hang: z.literal(true).optional(),
    dropAfter: z.enum(['request', 'commit']).optional(),
    /** How far a read lags behind; `true` is as far as it can. */
    stale: z.union([z.literal(true), z.int().min(1).max(LONGEST_STALE_MS)]).optional(),
    stateStuck: z.literal(true).optional(),
    truncate: z.literal(true).optional(),
  })
  .refine((given) => Object.values(given).some((value) => value !== undefined), 'a fault needs an effect');

/** What goes wrong, and when (C11). */
export const faultSchema = z.strictObject({
  match,
  effect,
  /** No more often than this. */
  times: z.int().min(1).optional(),
  /** Lab time. */
  until: z.iso.datetime({ offset: true }).optional(),
});

export type FaultSpec = z.input<typeof faultSchema>;
export type FaultEffect = z.output<typeof effect>;
type Fault = z.output<typeof faultSchema>;

/** A fault with what it has done so far. */
export interface KeptFault {
  readonly name: string;
  readonly spec: Fault;
  /** Requests that fit everything except `nth` and `probability`. */
  readonly matched: number;
  readonly fired: number;
}

export interface FaultedRequest {
  readonly method: string;
  readonly path: string;
  readonly kind: string | undefined;
  readonly tags: Tags;
}

/** Whether a fault is still there to fire. */
export function isArmed({ spec, fired }: KeptFault, now: Date): boolean {
  const { times = Number.POSITIVE_INFINITY, until } = spec;
  return fired < times && (until === undefined || now.getTime() < Date.parse(until));
}

/** Whether a request is one that the fault looks for, before it is counted and chance is asked. */
export function fits({ spec }: KeptFault, request: FaultedRequest): boolean {
  const { method, path, kind, tag = {} } = spec.match;
  return (
    (method === undefined || method === request.method) &&
    (kind === undefined || kind === request.kind) &&
    (path === undefined || pattern(path).test(request.path)) &&
    Object.entries(tag).every(([key, value]) => Object.hasOwn(request.tags, key) && request.tags[key] === value)
  );
}

const pattern = (path: string): RegExp => new RegExp(`^${path.split('*').map(literal).join('.*')}$`);

const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Whether the fault fires at a request that fits; `matched` counts this one already. */
export function fires({ spec, matched }: KeptFault, random: () => number): boolean {
  const { nth, probability } = spec.match;
  if (nth !== undefined && nth !== matched) return false;
  return probability === undefined || random() < probability;
}

/** What an effect answers instead of doing anything; undefined when it does not answer. */
export function faultAnswer(
  given: FaultEffect,
): { readonly status: number; readonly code: CloudErrorCode } | undefined {
  const { status, code } = given;
  if (status === undefined && code === undefined) return undefined;
  const usual = code ?? codeOfStatus(status ?? 500);
  return { status: status ?? statusOfCode(usual), code: usual };
}

/** The plainest code of a status; others are told as the nearest thing. */
const CODE_OF_STATUS: Readonly<Record<number, CloudErrorCode>> = {
  401: 'Unauthenticated',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'IncorrectState',
  412: 'PreconditionFailed',
  422: 'QuotaExceeded',
  429: 'RateLimited',
  503: 'Unavailable',
};

const codeOfStatus = (status: number): CloudErrorCode =>
  CODE_OF_STATUS[status] ?? (status < 500 ? 'InvalidArgument' : 'Internal');

/** How far a read lags behind under this effect, in milliseconds. */
export const staleMs = ({ stale }: FaultEffect): number => (stale === true ? LONGEST_STALE_MS : (stale ?? 0));
