// Places in the program where ranks wait, the causes of waits, and efficiencies by function. The data is written by
// tools/tables/place_tables.cc.

function showPlaces(scenario) {
  const {all, waits, functions} = scenario.places;
  byId("functions").hidden = functions.length === 0;
  const share = (value) => shareCell(value, 1);
  fillTable(byId("function-table"), ["Function", "Compute", "Load balance", "MPI", "Computes", "Waits", "Transfers"],
    functions.map((row) => [row.name, secondsCell(row.compute), row.compute > 0 ? share(row.load_balance) : "–",
      secondsCell(row.mpi), share(row.compute_share), share(row.wait_share), share(row.transfer_share)]));
  const oneCommunicator = new Set(waits.map((row) => row.communicator)).size < 2;
  fillTable(byId("place-table"), ["Waits in", "Time", "of all waits", ...oneCommunicator ? [] : ["Communicator"],
    "Most caused by", "of it"],
    waits.map((row) => [row.place, secondsCell(row.seconds), shareCell(row.seconds, all),
      ...oneCommunicator ? [] : [row.communicator],
      ...row.rank < 0 ? ["–", "–"] : [`rank ${row.rank}: ${row.cause}`, share(row.share)]]));
}

function setUpPlaces() {
  const known = data.scenarios.filter((scenario) => scenario.places && scenario.places.waits.length +
    scenario.places.functions.length > 0);
  if (known.length === 0) {
    byId("places").remove();
    return;
  }
  known.forEach((scenario, index) => byId("places-choice").append(element("option", scenario.name, {value: index})));
  const show = () => showPlaces(known[byId("places-choice").value]);
  byId("places-choice").value = Math.max(0, known.findIndex((scenario) => scenario.name === data.judged));
  byId("places-choice").addEventListener("change", show);
  show();
}
