// What the children of the lab are while it is measured: a small web server, as most of them are.
import { createServer } from 'node:http';
import process from 'node:process';

createServer((_request, response) => response.end('ok')).listen(8080);
process.on('SIGTERM', () => process.exit(0));
