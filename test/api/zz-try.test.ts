import { test } from 'vitest';
import { createServer } from '../../src/server.ts';
test('x', async () => {
const t0=performance.now();
const s = await createServer({port:0,host:'127.0.0.1',dataDirectory:undefined,databaseUrl:undefined,seedFile:undefined,role:'all',rateLimit:undefined,logLevel:'silent',hasMetrics:false,publicUrl:undefined,secret:undefined});
console.log('open', performance.now()-t0);
const r = await s.app.inject({url:'/_api/developer_api_payments/%E0%A4%A'}); console.log(r.statusCode,r.body,r.headers);
for (const u of ['//','/_api/developer_api_payments/','/_api/developer_api_payments//','/_api/developer_api_payments/%00','/_api/developer_api_payments/a%2Fb','/_api/developer_api_payments/'+'a'.repeat(2000),'/_api/%ff','/openapi.json','/healthz?x=1']) {
 const r = await s.app.inject({url:u}); console.log(u.slice(0,50), r.statusCode,r.body.slice(0,200),r.headers['request-id']);
}
for (const m of ['POST','PUT','DELETE','OPTIONS','TRACE','PATCH','HEAD'] as const){const r = await s.app.inject({method:m as never,url:'/healthz',payload: (m==='TRACE'||m==='HEAD'?undefined:'{}') as never,headers:{'content-type':'application/json'}}); console.log(m,r.statusCode,r.body.slice(0,150))}
for (const m of ['PUT','DELETE','OPTIONS','TRACE','PATCH','HEAD'] as const){const r = await s.app.inject({method:m as never,url:'/_api/developer_api_payments/x/y/z'}); console.log(m,r.statusCode,r.body.slice(0,150), r.headers.allow)}
for (const m of ['PUT','DELETE','OPTIONS','PATCH','HEAD','PROPFIND'] as const){const r = await s.app.inject({method:m as never,url:'/_api/developer_api_payments', payload: '{"a":', headers:{'content-type':'text/plain'}}); console.log(m,r.statusCode,r.body.slice(0,150), r.headers.allow)}
await s.close();
});
