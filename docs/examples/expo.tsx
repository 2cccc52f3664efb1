// A screen of an Expo app. Not run by this project's tests; see examples.md.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, type UIMessage } from "ai";
import { fetch as expoFetch } from "expo/fetch";
import { useEffect, useMemo, useRef, useState } from "react";
import { AppState, Button, ScrollView, Text, TextInput, View } from "react-native";

interface Props {
  url: string; // absolute: an app has no origin
  session: string;
  token: () => Promise<string>; // from the system's key store
}

export function Chat(props: Props) {
  const [epoch, setEpoch] = useState(0);
  const [history, setHistory] = useState<UIMessage[] | null>(null);
  const away = useRef(false);

  // Back in the foreground: a new chat object with the history, which resumes the turn that runs.
  useEffect(() => {
    const changes = AppState.addEventListener("change", (state) => {
      if (state === "background") away.current = true;
      if (state !== "active" || !away.current) return;
      away.current = false;
      setEpoch((before) => before + 1);
    });
    return () => changes.remove();
  }, []);

  useEffect(() => {
    let current = true;
    setHistory(null);
    void (async () => {
      const headers = { authorization: `Bearer ${await props.token()}` };
      const answer = await expoFetch(`${props.url}/api/sessions/${props.session}/messages`, { headers });
      if (current && answer.ok) setHistory(await answer.json());
    })();
    return () => {
      current = false;
    };
  }, [epoch, props.session, props.url, props.token]);

  return history === null ? null : <Open key={epoch} {...props} history={history} />;
}

function Open({ url, session, token, history }: Props & { history: UIMessage[] }) {
  const api = `${url}/api/sessions/${session}`;
  const headers = async () => ({ authorization: `Bearer ${await token()}` });
  const transport = useMemo(
    () => new DefaultChatTransport({ api: `${api}/chat`, headers, fetch: expoFetch as unknown as typeof fetch }),
    [api],
  );
  const { messages, sendMessage, status } = useChat({ id: session, messages: history, resume: true, transport });
  const [text, setText] = useState("");
  const busy = status === "submitted" || status === "streaming";
  const stop = async () => void expoFetch(`${api}/stop`, { method: "POST", headers: await headers() });
  return (
    <View>
      <ScrollView>
        {messages.map(({ id, parts }) => (
          <Text key={id}>{parts.map((part) => (part.type === "text" ? part.text : "")).join("")}</Text>
        ))}
      </ScrollView>
      <TextInput accessibilityLabel="Message" value={text} onChangeText={setText} />
      <Button
        title={busy ? "Stop" : "Send"}
        onPress={() => {
          if (busy) return void stop();
          void sendMessage({ text });
          setText("");
        }}
      />
    </View>
  );
}
