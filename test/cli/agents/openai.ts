// An agent with the official client, which calls the model as soon as it is loaded.
import OpenAI from "openai";

const client = new OpenAI();
const { output_text } = await client.responses.create({
  model: "gpt-5-mini",
  instructions: "you find telephone numbers",
  input: "which number has ann",
  tools: [
    {
      type: "function",
      name: "where",
      description: "the room of a person",
      strict: true,
      parameters: { type: "object", properties: { person: { type: "string" } }, required: ["person"] },
    },
  ],
});
console.log(output_text);
