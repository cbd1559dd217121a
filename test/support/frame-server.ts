import { createServer as createTls } from 'node:tls';
import { listening, testServing } from './transport-world.ts';

interface FrameHead {
  readonly type: number;
  readonly flags?: number;
  readonly id?: number;
}

export function frame({ type, flags = 0, id = 0 }: FrameHead, payload: readonly number[] | Buffer = []): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, Buffer.from(payload)]);
}

export const rst =
  (code: number) =>
  (id: number): Buffer =>
    frame({ type: 3, id }, [0, 0, 0, code]);

export const goaway =
  (code: number) =>
  (id: number): Buffer =>
    frame({ type: 7 }, [0, 0, 0, id, 0, 0, 0, code]);

/** Frames byte by byte, because a server of Node never breaks the rules: these after each request head. */
export async function frameServer(answerTo: (id: number) => readonly Buffer[], isClosing: boolean) {
  const { certificatePem, keys } = await testServing();
  const options = { cert: certificatePem, key: keys.privateKeyPem, ALPNProtocols: ['h2'] };
  const server = createTls(options, (socket) => {
    socket.on('error', () => {});
    socket.write(frame({ type: 4 }));
    let buffered = Buffer.alloc(0);
    socket.on('data', (bytes) => {
      buffered = Buffer.concat([buffered, bytes]);
      const preface = 24;
      let at = buffered.subarray(0, 3).toString() === 'PRI' ? preface : 0;
      for (; buffered.length >= at + 9; at += 9 + buffered.readUIntBE(at, 3)) {
        if (buffered.readUInt8(at + 3) !== 1) continue;
        for (const part of answerTo(buffered.readUInt32BE(at + 5))) socket.write(part);
        if (isClosing) socket.end();
      }
      buffered = buffered.subarray(at);
    });
  });
  return listening(server, 'https');
}
