import type { CompactionStep, JournalFailure } from './journal.ts';
import type { StoreLogOptions } from './store-log.ts';

/** What the store asks its thread to do, one thing at a time. A bare buffer is a packed batch of writes. */
export type WorkerRequest =
  | ArrayBuffer
  | { readonly kind: 'begin'; readonly options: StoreLogOptions }
  | { readonly kind: 'compact'; readonly step: CompactionStep }
  | { readonly kind: 'finish' };

/** `ready` comes once, at the start; `unasked` only when something failed between two requests. */
export interface WorkerReply {
  readonly kind: 'ready' | 'answer' | 'unasked';
  readonly failure?: Pick<JournalFailure, 'kind' | 'message'>;
}
