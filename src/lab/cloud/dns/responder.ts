import type { Log } from '../../../base/log.ts';
import type { Forward } from './forwarder.ts';
import { bareReply, lookup, type Question, type Reply } from './lookup.ts';
import { readQuery } from './query.ts';
import { type DnsTransport, replyMessage } from './reply-message.ts';
import { Rotation } from './rotation.ts';
import type { Zone } from './zone.ts';

export interface ResponderOptions {
  /** Asked for every question, with the address it came from: each cluster has Services of its own. */
  readonly zones: (asker: string) => readonly Zone[];
  /** For names of others; refused without (C23). */
  readonly forward?: Forward;
  readonly log: Log;
}

/** From packet to packet: everything of the server but the sockets. */
export class Responder {
  readonly #options: ResponderOptions;
  readonly #rotation = new Rotation();

  constructor(options: ResponderOptions) {
    this.#options = options;
  }

  /** The packet to send back; undefined when nothing is to be said. Never rejects. */
  async respond(packet: Buffer, transport: DnsTransport, asker = ''): Promise<Buffer | undefined> {
    const query = readQuery(packet);
    if (query === undefined) return undefined;
    const { head } = query;
    const { forward, log } = this.#options;
    const isRecursionAvailable = forward !== undefined;
    const message = (reply: Reply, askedName?: string) =>
      replyMessage(head, reply, {
        transport,
        isRecursionAvailable,
        ...(askedName !== undefined && { askedName }),
      });
    if ('problem' in query) return message(bareReply(query.problem));
    try {
      const reply = this.#lookup(query.question, asker);
      if (reply !== undefined) return message(reply, query.question.name);
      if (forward === undefined || !head.isRecursionDesired) return message(bareReply('REFUSED'));
      return (await forward(packet, transport)) ?? message(bareReply('SERVFAIL'));
    } catch (err) {
      // Zones are computed by others; one that fails must not silence the rest.
      log.error({ err, name: query.question.name }, 'Name server failed to answer');
      return message(bareReply('SERVFAIL'));
    }
  }

  #lookup(question: Question, asker: string): Reply | undefined {
    const reply = lookup(this.#options.zones(asker), question);
    return reply && { ...reply, answers: reply.answers.map((set) => this.#rotation.turned(set)) };
  }
}
