import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { withDeadline } from '../../../kube/deadline.ts';
import type { Endpoint } from '../../address/address-plan.ts';
import type { DnsTransport } from './reply-message.ts';
import { framed, framesOf } from './tcp-frames.ts';

/** Asks somebody else; undefined when nobody answers. Never rejects. */
export type Forward = (query: Buffer, transport: DnsTransport) => Promise<Buffer | undefined>;

export interface ForwarderOptions {
  /** Asked one after the other. */
  readonly servers: readonly Endpoint[];
  /** Networks outside the lab have their own time (T6). */
  readonly real: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const TIMEOUT_MS = 2000;
/** More questions at once are not passed on: their clients ask again. */
const MOST_IN_FLIGHT = 128;
const LONGEST_ANSWER_BYTES = 65_535;
const HEADER_BYTES = 12;

/** Passes questions on over the transport they came by, each with an identifier of its own. */
export function forwarder({ servers, real, log, signal }: ForwarderOptions): Forward {
  let inFlight = 0;
  const ask = async (query: Buffer, server: Endpoint, transport: DnsTransport): Promise<Buffer | undefined> => {
    const onTimeout = () => new Error(`no answer within ${TIMEOUT_MS} ms`);
    const sent = withIdentifier(query, Math.floor(real.random() * 0x1_0000));
    try {
      const answer = await withDeadline({ clock: real, timeoutMs: TIMEOUT_MS, signal, onTimeout }, (deadline) =>
        transport === 'udp' ? overUdp(sent, server, deadline) : overTcp(sent, server, deadline),
      );
      return withIdentifier(answer, query.readUInt16BE(0));
    } catch (error) {
      log.debug({ server, reason: messageOf(error) }, 'Asked another name server in vain');
      return undefined;
    }
  };
  return async (query, transport) => {
    if (inFlight >= MOST_IN_FLIGHT) return undefined;
    inFlight++;
    try {
      for (const server of servers) {
        const answer = await ask(query, server, transport);
        if (answer !== undefined) return answer;
      }
      return undefined;
    } finally {
      inFlight--;
    }
  };
}

function withIdentifier(packet: Buffer, id: number): Buffer {
  const copy = Buffer.from(packet);
  copy.writeUInt16BE(id, 0);
  return copy;
}

/** Others may send to our port as well: only what repeats the identifier is the answer. */
const isAnswerTo = (query: Buffer, packet: Buffer): boolean =>
  packet.length >= HEADER_BYTES &&
  packet.readUInt16BE(0) === query.readUInt16BE(0) &&
  (packet.readUInt8(2) & 0x80) !== 0;

async function overUdp(query: Buffer, { host, port }: Endpoint, signal: AbortSignal): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  await using socket = createSocket('udp4');
  socket.on('error', reject);
  socket.on('message', (packet) => {
    if (isAnswerTo(query, packet)) resolve(packet);
  });
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  // Connected, the kernel lets nobody else's packets through, and tells when nobody listens.
  socket.once('connect', () => socket.send(query));
  socket.connect(port, host);
  return await promise;
}

async function overTcp(query: Buffer, at: Endpoint, signal: AbortSignal): Promise<Buffer> {
  const socket = connect({ ...at, signal });
  try {
    socket.write(framed(query));
    for await (const packet of framesOf(socket, LONGEST_ANSWER_BYTES))
      if (isAnswerTo(query, packet)) return packet;
    throw new Error('the connection was closed without an answer');
  } finally {
    socket.destroy();
  }
}
