import { acceptClauses } from './accept-clauses.ts';

/** How the document of OpenAPI v2 can be written. */
export type DocumentForm = 'json' | 'protobuf';

/** What we answer with; asked for it may be by an older name, too. */
export const FORM_TYPES: Readonly<Record<DocumentForm, string>> = {
  json: 'application/json',
  protobuf: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
};

const OFFERED: readonly (readonly [subtype: string, form: DocumentForm])[] = [
  ['json', 'json'],
  ['com.github.proto-openapi.spec.v2@v1.0+protobuf', 'protobuf'],
  ['com.github.proto-openapi.spec.v2.v1.0+protobuf', 'protobuf'],
];

/**
 * The form a client wants (D8), or undefined when it takes none of them. Names are compared letter by letter, and no
 * parameter but the quality counts: this path knows no transforms.
 */
export function documentForm(accept: string | undefined): DocumentForm | undefined {
  for (const { type, subtype } of acceptClauses(accept === undefined || accept === '' ? '*/*' : accept)) {
    if (type !== 'application' && type !== '*') continue;
    const offer = OFFERED.find(([name]) => subtype === name || subtype === '*');
    if (offer !== undefined) return offer[1];
  }
  return undefined;
}
