import { createRequire } from 'node:module';
import type * as Protobuf from '@bufbuild/protobuf';
import type * as WellKnown from '@bufbuild/protobuf/wkt';
import type * as Grpc from '@grpc/grpc-js';

const load = createRequire(import.meta.url);

/**
 * The library that serves and calls, loaded by the first one who does: that takes 60 ms, and most labs never do. Both
 * libraries are asked for with `require`, which answers at once; a later `import` of them would get another copy.
 */
export const grpc = (): typeof Grpc => load('@grpc/grpc-js');

/** The library that reads and writes messages, likewise. */
export const protobuf = (): typeof Protobuf => load('@bufbuild/protobuf');

/** Messages of Google's own files, in the form of that library. */
export const wellKnown = (): typeof WellKnown => load('@bufbuild/protobuf/wkt');
