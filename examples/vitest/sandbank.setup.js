import { startSandbank } from 'sandbank/testing';

export default async function setup({ provide }) {
  const sandbank = await startSandbank();
  provide('sandbank', { url: sandbank.url, operatorToken: sandbank.operatorToken });
  return () => sandbank.close();
}
