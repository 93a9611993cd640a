/** The dashboard: a frame with a bar of places, and one page at a time, loaded when it is first asked for. */
import { render } from "preact";
import { ErrorBoundary, LocationProvider, lazy, Route, Router } from "preact-iso";
import { Runs } from "./pages/runs.tsx";
import { Bar } from "./parts/bar.tsx";
import { Missing } from "./parts/notice.tsx";
import { Palette } from "./parts/palette.tsx";
import { routes } from "./routes.ts";
import "./style.css";

const pages = {
  artefact: lazy(() => import("./pages/artefact.tsx").then((m) => m.Artefact)),
  artefacts: lazy(() => import("./pages/artefacts.tsx").then((m) => m.Artefacts)),
  comparison: lazy(() => import("./pages/comparison.tsx").then((m) => m.Comparison)),
  compare: lazy(() => import("./pages/compare.tsx").then((m) => m.Compare)),
  episode: lazy(() => import("./pages/episode.tsx").then((m) => m.Episode)),
  episodes: lazy(() => import("./pages/episodes.tsx").then((m) => m.Episodes)),
  inbox: lazy(() => import("./pages/inbox.tsx").then((m) => m.Inbox)),
  league: lazy(() => import("./pages/league.tsx").then((m) => m.League)),
  login: lazy(() => import("./pages/login.tsx").then((m) => m.Login)),
  method: lazy(() => import("./pages/method.tsx").then((m) => m.Method)),
  methods: lazy(() => import("./pages/methods.tsx").then((m) => m.Methods)),
  run: lazy(() => import("./pages/run.tsx").then((m) => m.Run)),
  session: lazy(() => import("./pages/session.tsx").then((m) => m.Session)),
  sessions: lazy(() => import("./pages/sessions.tsx").then((m) => m.Sessions)),
  tasks: lazy(() => import("./pages/tasks.tsx").then((m) => m.Tasks)),
  versions: lazy(() => import("./pages/versions.tsx").then((m) => m.Versions)),
};

function App() {
  return (
    <LocationProvider>
      <Bar />
      <Palette />
      <main id="main" tabIndex={-1}>
        <ErrorBoundary>
          <Router>
            <Route path="/" component={Runs} />
            {Object.entries(routes).map(([path, page]) => (
              <Route key={path} path={path} component={pages[page]} />
            ))}
            <Route default component={Missing} />
          </Router>
        </ErrorBoundary>
      </main>
    </LocationProvider>
  );
}

const place = document.getElementById("app");
if (place) render(<App />, place);
