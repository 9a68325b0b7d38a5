// The AI SDK of Vercel on a budget: bardo wrap --credit 2 -- node vercel_agent.mjs
//
// Nothing here knows of Bardo but the last lines, which end well when the money is gone.
import { openai } from '@ai-sdk/openai';
import { APICallError, generateText, stepCountIs, tool } from 'ai';
import { z } from 'zod';

const length = tool({
  description: 'How many letters a text has.',
  inputSchema: z.object({ text: z.string() }),
  execute: async ({ text }) => text.length,
});

try {
  const { text } = await generateText({
    model: openai(process.env.MODEL ?? 'gpt-5-mini'),
    tools: { length },
    stopWhen: stepCountIs(3),
    prompt: 'How long is the word budget? Use the tool.',
  });
  console.log(text);
} catch (refused) {
  if (!APICallError.isInstance(refused) || refused.statusCode !== 402) throw refused;
  console.log(`out of money: ${refused.message}`);
}
