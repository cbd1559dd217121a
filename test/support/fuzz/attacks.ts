import fc from 'fast-check';
import { compressedRequests, protobufRequests, yamlRequests } from './hostile-bodies.ts';
import { connectionRequests } from './hostile-connections.ts';
import { definitionRequests, ruleRequests } from './hostile-definitions.ts';
import { hugeRequests, jsonRequests } from './hostile-json.ts';
import { patchRequests } from './hostile-patches.ts';
import { headerRequests, pathRequests, queryRequests } from './hostile-paths.ts';
import type { FuzzRequest } from './request.ts';

/** What any server can be asked one after the other, with an answer that depends on nothing else. */
const COMPARABLE = [
  { weight: 90, arbitrary: jsonRequests },
  { weight: 50, arbitrary: patchRequests },
  { weight: 6, arbitrary: yamlRequests },
  { weight: 20, arbitrary: protobufRequests },
  { weight: 4, arbitrary: compressedRequests },
  { weight: 40, arbitrary: pathRequests },
  { weight: 40, arbitrary: queryRequests },
  { weight: 25, arbitrary: headerRequests },
  { weight: 4, arbitrary: ruleRequests },
];
const ALL = [
  ...COMPARABLE,
  { weight: 1, arbitrary: hugeRequests },
  { weight: 15, arbitrary: connectionRequests },
  { weight: 6, arbitrary: definitionRequests },
];

/** The same requests for the same seed. */
export const attacks = (count: number, seed: number): readonly FuzzRequest[] =>
  fc.sample(fc.oneof(...ALL), { numRuns: count, seed });

/** Without what is nested deeper than we allow and less deep than upstream does (reliability/P9). */
export const comparableAttacks = (count: number, seed: number): readonly FuzzRequest[] =>
  fc.sample(
    fc.oneof(...COMPARABLE).filter(({ body = '' }) => !TOO_DEEP.test(body.toString('latin1'))),
    {
      numRuns: count,
      seed,
    },
  );

const TOO_DEEP = /(?:\[|\{"?a"?: ?){500}/;
