import { X509Certificate } from 'node:crypto';
import { messageOf, terminalError } from '../../../base/errors.ts';

const BLOCK_TYPE = 'CERTIFICATE';
const BEGIN = /^-----BEGIN (.{0,60})-----\s*$/;
const END = /^-----END (.{0,60})-----\s*$/;
/** `Proc-Type: 4,ENCRYPTED`: may stand before the text of a block. */
const HEADER = /^[^:]+:/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Either a bundle that can be used, or why it cannot. */
export interface BundleAnswer {
  readonly bundle?: string;
  readonly problem?: string;
}

/** The authorities that programs trust, by where they come from. All but those of the system may be missing. */
export interface TrustedBundles {
  readonly system: string;
  /** That the Proxy names. */
  readonly proxy?: string | undefined;
  /** That the cloud config brings along. */
  readonly cloud?: string | undefined;
}

/**
 * A bundle of PEM blocks, as it is. Each of them must be a certificate; text around them is skipped (R77). A problem
 * names the certificate by its number in the bundle.
 */
export function checkedBundle(text: string | undefined): BundleAnswer {
  if (text === undefined) return { problem: 'it is missing' };
  const blocks = blocksOf(text);
  if (blocks.length === 0) return { problem: text.trim() === '' ? 'it is empty' : 'it holds no PEM block' };
  const problem = blocks.map((block, at) => problemOf(block, at + 1)).find((found) => found !== undefined);
  return problem === undefined ? { bundle: text } : { problem };
}

interface Block {
  readonly type: string;
  readonly lines: string[];
  end?: string;
}

function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const line of text.split(/\r?\n/)) {
    const type = BEGIN.exec(line)?.[1];
    const end = END.exec(line)?.[1];
    if (type !== undefined) {
      open = { type, lines: [] };
      blocks.push(open);
    } else if (open !== undefined && end !== undefined) {
      open.end = end;
      open = undefined;
    } else open?.lines.push(line);
  }
  return blocks;
}

function problemOf({ type, lines, end }: Block, number: number): string | undefined {
  const found = `certificate ${number}`;
  if (type !== BLOCK_TYPE) return `${found} is a PEM block of type "${type}", must be of type "${BLOCK_TYPE}"`;
  if (end !== type) return `${found} has no line "-----END ${BLOCK_TYPE}-----"`;
  const text = lines.filter((line) => !HEADER.test(line)).join('');
  const base64 = text.replaceAll(/\s/g, '');
  if (!BASE64.test(base64) || base64.length % 4 !== 0) return `${found} is no PEM: its text is not base64`;
  try {
    void new X509Certificate(Buffer.from(base64, 'base64'));
    return undefined;
  } catch (error) {
    return `${found} cannot be parsed (${messageOf(error)})`;
  }
}

/** What the cloud config brings, what the Proxy names and what the system has, in this order (R78, R79). */
export function mergedBundle({ system, proxy, cloud }: TrustedBundles): string {
  const parts = [cloud === proxy ? undefined : cloud, proxy, system].filter((part) => part !== undefined);
  const { bundle, problem = '' } = checkedBundle(parts.join('\n'));
  if (bundle !== undefined) return bundle;
  throw terminalError('MergedBundleBroken', `the merged trust bundle cannot be used: ${problem}`);
}
