import type { Socket } from 'node:net';
import type { ChannelCredentials } from '@grpc/grpc-js';
import { grpc } from './libraries.ts';

/** Credentials of a connection without TLS that know its sockets. */
export interface WatchedCredentials {
  readonly credentials: ChannelCredentials;
  /** Closes every socket that was opened with them. */
  closeSockets(): void;
}

/**
 * The library leaves a socket open for ever whose other side accepted and never said a word, even when the channel is
 * closed. Credentials are the only place where it shows its sockets.
 */
export function watchedCredentials(): WatchedCredentials {
  const plain = grpc().credentials.createInsecure();
  /** Those that are open: a channel has one, and another while it reconnects. */
  const sockets = new Set<Socket>();
  const connectorOf = plain._createSecureConnector.bind(plain);
  plain._createSecureConnector = (...given) => {
    const connector = connectorOf(...given);
    return {
      ...connector,
      connect: (socket) => {
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
        return connector.connect(socket);
      },
    };
  };
  return {
    credentials: plain,
    closeSockets: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}
