import { createServer } from 'node:http';
import process from 'node:process';

const text = `${process.env['GREETING'] ?? 'hello'} from ${process.env['HOSTNAME']}\n`;
const server = createServer((_request, response) => response.end(text));
server.listen(8080, () => process.stdout.write('listening\n'));
process.once('SIGTERM', () => server.close());
