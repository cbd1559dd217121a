import { parentPort } from 'node:worker_threads';
import { JournalFailure } from './journal.ts';
import { unpackBatch } from './packed-batch.ts';
import { StoreLog } from './store-log.ts';
import type { WorkerReply, WorkerRequest } from './worker-protocol.ts';

/** The thread that waits for the disk, so that the one that answers requests never does. */

let log: StoreLog | undefined;
/** Counts requests, to see whether one came while the thread meant to be idle. */
let requests = 0;

function perform(request: WorkerRequest): void {
  if (request instanceof ArrayBuffer) {
    log?.append(unpackBatch(request));
    return;
  }
  switch (request.kind) {
    case 'begin':
      log = new StoreLog(request.options);
      log.preallocate();
      return;
    case 'compact':
      log?.compact(request.step);
      return;
    case 'finish':
      log?.finish();
      log = undefined;
      return;
  }
}

function replyTo(work: () => void, kind: 'answer' | 'unasked'): void {
  let reply: WorkerReply = { kind };
  try {
    work();
  } catch (error) {
    const isKnown = error instanceof JournalFailure;
    const message = error instanceof Error ? error.message : String(error);
    reply = { kind, failure: { kind: isKnown ? error.kind : 'broken', message } };
  }
  if (kind === 'answer' || reply.failure !== undefined) parentPort?.postMessage(reply);
}

/** The write-ahead log is emptied when nobody waits; when that never happens, after an answer. */
function tidy(): void {
  if (log === undefined || !log.isCheckpointDue) return;
  if (log.isCheckpointOverdue) {
    replyTo(() => log?.checkpoint(), 'unasked');
    return;
  }
  const seen = requests;
  setImmediate(() => {
    if (seen === requests) replyTo(() => log?.checkpoint(), 'unasked');
  });
}

parentPort?.on('message', (request: WorkerRequest) => {
  requests++;
  replyTo(() => perform(request), 'answer');
  tidy();
});
parentPort?.postMessage({ kind: 'ready' } satisfies WorkerReply);
