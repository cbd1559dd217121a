import { join } from 'node:path';
import { z } from 'zod';
import { CloudError } from '../cloud-error.ts';
import { defineKind } from '../resources/kind-definition.ts';
import type { ReceivedFile } from '../resources/received-file.ts';
import type { DefinedKind, KindFactory, Transaction } from '../resources/resource-kind.ts';
import type { KindName, ResourceRecord } from '../resources/resource-record.ts';
import { resourceView } from '../resources/resource-view.ts';
import { ImageFiles } from './image-files.ts';

interface ImageFields {
  readonly format: 'raw' | 'qcow2';
  readonly architecture: string;
  readonly source?: string | undefined;
  /** Claimed at first, then what it is. */
  readonly sha256?: string | undefined;
  readonly sizeBytes?: number;
  /** What has been uploaded and waits to be looked at. */
  readonly upload?: { readonly sizeBytes: number; readonly sha256: string; readonly head: string };
}

type Image = ResourceRecord<ImageFields>;

export const IMAGES: KindName<ImageFields> = { plural: 'images' };

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits in small letters');

/** Disks to start from: fetched from a URL, or sent by `PUT /v1/images/<id>/data`. */
export const images: KindFactory = ({ directory, real, transact }) => {
  const files = new ImageFiles(join(directory, 'images'), real);
  const kind: DefinedKind = defineKind(IMAGES, {
    singular: 'image',
    idPrefix: 'img',
    states: ['pending', 'importing', 'available', 'error'],
    quotas: { images: 50 },
    input: {
      format: z.enum(['raw', 'qcow2']),
      architecture: z.enum(['amd64', 'arm64', 'ppc64le', 's390x']).default('amd64'),
      source: httpUrl.optional(),
      sha256: sha256.optional(),
    },
    changes: {},
    create: ({ input }) => ({ state: 'pending', fields: input }),
    remove: () => 'gone',
    transitions: {
      pending: {
        durationMs: 1000,
        // The others wait for their data.
        applies: ({ fields }) => fields.source !== undefined,
        finish: () => ({ state: 'importing' }),
      },
      importing: {
        durationMs: 2000,
        work: async ({ id, fields }, signal) => {
          const { source, upload } = fields;
          if (source !== undefined) return await files.download(id, source, fields, signal);
          if (upload !== undefined) return await files.importUpload(id, fields, upload);
          throw new CloudError('Internal', 'there is nothing to import');
        },
        finish: () => ({ state: 'available', fields: { upload: undefined } }),
      },
    },
    view: ({ fields }) => (fields.upload === undefined ? {} : { upload: { sizeBytes: fields.upload.sizeBytes } }),
    subresources: {
      data: {
        methods: ['PUT'],
        isRaw: true,
        serve: async (record, { stream, signal }) => {
          requirePending(record);
          await using received = await files.receive(stream, signal);
          const now = await transact((transaction) => begunImport(record, received, { files, transaction }));
          return { status: 202, body: resourceView(kind, now, new Date(now.updatedAt)) };
        },
      },
    },
    seed: () => files.sweep(),
    changed: async (now, before) => {
      if (now === undefined && before !== undefined) await files.remove(before.id);
    },
  });
  return kind;
};

interface ImportTools {
  readonly files: ImageFiles;
  readonly transaction: Transaction;
}

/** Of several who send, the first to be done counts: the file is kept in one step with the transaction. */
function begunImport({ id }: Image, received: ReceivedFile, { files, transaction }: ImportTools): Image {
  const image = transaction.demand(IMAGES, id);
  requirePending(image);
  files.keepUpload(id, received);
  const { sizeBytes, sha256: sum, head } = received;
  const upload = { sizeBytes, sha256: sum, head: head.toString('hex') };
  return transaction.change(image, { state: 'importing', fields: { upload } });
}

function requirePending({ id, state, fields: { source } }: Image): void {
  if (source !== undefined) throw new CloudError('IncorrectState', `image ${id} is fetched from ${source}`);
  if (state !== 'pending')
    throw new CloudError('IncorrectState', `image ${id} is ${state}: only a pending one takes data`);
}
