import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageCatalogue } from '../../src/lab/index.ts';

const NAME = 'payload.invalid/aws-cloud-controller-manager';
/** By what is in them. */
export const AWS_IMAGES = { first: `${NAME}:1`, second: `${NAME}:2`, broken: `${NAME}:broken` } as const;
/** Why the broken one ends. */
export const BROKEN_WORDS = 'no role: the metadata service of this machine answered 404';

/** Where the image has its program, as the manifests of the operator call it. */
const PROGRAM = '/bin/aws-cloud-controller-manager';
const TEXT = `
import { readFileSync } from 'node:fs';
const [, , ...words] = process.argv;
const file = words.find((word) => word.startsWith('--cloud-config='))?.slice('--cloud-config='.length) ?? '';
console.log(JSON.stringify({ image: process.env.IMAGE, words, cloudConfig: readFileSync(file, 'utf8') }));
if (process.env.IMAGE.endsWith(':broken')) {
  console.error(${JSON.stringify(BROKEN_WORDS)});
  process.exit(1);
}
process.on('SIGTERM', () => process.exit(0));
setInterval(() => {}, 60_000);
`;

/**
 * Images with a program that stands for the one of AWS: it reads its cloud configuration and stays. The lab runs programs
 * of this machine, so that the shell of the image is one that knows where the program is here; the script that it gets
 * is that of the operator.
 */
export async function awsManagerImages(directory: string): Promise<ImageCatalogue> {
  const script = join(directory, 'manager.mjs');
  await writeFile(script, TEXT);
  const manager = await executable(
    join(directory, 'manager'),
    `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`,
  );
  const shell = await executable(
    join(directory, 'bash'),
    `#!/bin/bash\nexec /bin/bash "$1" "\${2//'${PROGRAM}'/'${manager}'}"\n`,
  );
  return Object.fromEntries(
    Object.values(AWS_IMAGES).map((image) => [
      image,
      { argv: [manager], programs: { '/bin/bash': shell }, env: { IMAGE: image } },
    ]),
  );
}

async function executable(path: string, text: string): Promise<string> {
  await writeFile(path, text);
  await chmod(path, 0o755);
  return path;
}
