import { z } from 'zod';
import type { Json, JsonObject } from '../../../object/json.ts';
import { type Credentials, clientIdSchema, scopeSchema } from '../access/credentials.ts';
import { invalidArgument, notFound } from '../cloud-error.ts';
import { type FaultSpec, type KeptFault } from '../faults/fault.ts';
import type { FaultTable } from '../faults/fault-table.ts';
import type { Journal } from '../faults/journal.ts';
import type { CloudCore } from '../resources/cloud-core.ts';
import { checked } from '../resources/request-schema.ts';
import type { CloudAnswer } from './cloud-answer.ts';

export interface LabDeskOptions {
  readonly core: CloudCore;
  readonly faults: FaultTable;
  readonly journal: Journal;
  readonly credentials: Credentials;
}

export interface LabRequest {
  readonly method: string;
  readonly name: string;
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
  readonly body: JsonObject;
}

const credentialSchema = z.strictObject({ clientId: clientIdSchema, scope: scopeSchema.default('read write') });
const journalSchema = z.strictObject({
  method: z.string().toUpperCase().optional(),
  path: z.string().optional(),
  kind: z.string().optional(),
  credential: z.string().optional(),
  status: z.coerce.number().int().optional(),
  after: z.string().optional(),
});
const FAULT_NAME = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/;
const MOST_FAULTS = 100;

/** What only administrators of the lab may do: faults, the journal, credentials (C1, C11). */
export class LabDesk {
  readonly #options: LabDeskOptions;

  constructor(options: LabDeskOptions) {
    this.#options = options;
  }

  async answer(request: LabRequest): Promise<CloudAnswer> {
    const { method, name, rest } = request;
    const [id, ...more] = rest;
    if (more.length > 0) throw notFound(`path /lab/${name}/${rest.join('/')}`);
    switch (name) {
      case 'faults':
        return id === undefined ? this.#allFaults(method) : this.#fault(request, id);
      case 'journal':
        return this.#journal(request);
      case 'credentials':
        return await this.#credentials(request, id);
      default:
        throw notFound(`path /lab/${name}; known are faults, journal and credentials`);
    }
  }

  #allFaults(method: string): CloudAnswer {
    requireMethod(method, ['GET']);
    return { status: 200, body: { items: this.#options.faults.list().map(faultView) } };
  }

  #fault({ method, body }: LabRequest, name: string): CloudAnswer {
    const { faults } = this.#options;
    requireMethod(method, ['GET', 'PUT', 'DELETE']);
    if (method === 'PUT') return { status: 200, body: faultView(this.#put(name, body)) };
    const fault = faults.get(name);
    if (fault === undefined) throw notFound(`fault ${name}`);
    if (method === 'DELETE') faults.delete(name);
    return { status: method === 'DELETE' ? 202 : 200, body: faultView(fault) };
  }

  #put(name: string, body: JsonObject): KeptFault {
    const { faults } = this.#options;
    if (!FAULT_NAME.test(name))
      throw invalidArgument('name', 'name: a fault is named with letters, digits, dots, dashes and underscores');
    if (faults.get(name) === undefined && faults.list().length >= MOST_FAULTS)
      throw invalidArgument('name', `there are ${MOST_FAULTS} faults already; take some away`);
    // The table checks it whole.
    return faults.put(name, body as unknown as FaultSpec);
  }

  #journal({ method, query }: LabRequest): CloudAnswer {
    requireMethod(method, ['GET']);
    const given = checked(journalSchema, Object.fromEntries(query));
    const filter = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    const items = this.#options.journal.list(filter).map((entry): Json => JSON.parse(JSON.stringify(entry)));
    return { status: 200, body: { items } };
  }

  async #credentials({ method, body }: LabRequest, clientId: string | undefined): Promise<CloudAnswer> {
    const { core, credentials } = this.#options;
    requireMethod(method, clientId === undefined ? ['GET', 'POST'] : ['DELETE']);
    if (clientId !== undefined) {
      await core.transact((transaction) => credentials.revoke(clientId, transaction));
      return { status: 202, body: { clientId, state: 'revoked' } };
    }
    if (method === 'GET') {
      const items = credentials.all().map(({ clientId: id, scope }) => ({ clientId: id, scope }));
      return { status: 200, body: { items } };
    }
    const { clientId: wanted, scope } = checked(credentialSchema, body);
    const made = await core.transact((transaction) => credentials.create(wanted, scope, transaction));
    return { status: 201, body: { ...made } };
  }
}

const faultView = ({ name, spec, matched, fired }: KeptFault): JsonObject => ({
  name,
  ...JSON.parse(JSON.stringify(spec)),
  matched,
  fired,
});

function requireMethod(method: string, methods: readonly string[]): void {
  if (!methods.includes(method))
    throw invalidArgument('method', `${method} is not possible here; what is: ${methods.join(', ')}`);
}
