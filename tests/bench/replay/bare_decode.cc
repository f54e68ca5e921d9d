#include "bare_decode.h"

#include <otf2/otf2.h>

#include <cstdio>
#include <cstdlib>

namespace {

template <typename... Rest>
OTF2_CallbackCode count(OTF2_LocationRef, OTF2_TimeStamp, uint64_t, void* user, OTF2_AttributeList*,
                        Rest...) {
  ++*static_cast<uint64_t*>(user);
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_location(void* user, OTF2_LocationRef location, OTF2_StringRef,
                              OTF2_LocationType, uint64_t, OTF2_LocationGroupRef) {
  static_cast<std::vector<uint64_t>*>(user)->push_back(location);
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_Reader* open_reader(const std::string& anchor) {
  OTF2_Reader* reader = OTF2_Reader_Open(anchor.c_str());
  if (!reader) {
    std::fprintf(stderr, "rubato-bench: cannot read %s\n", anchor.c_str());
    std::exit(1);
  }
  OTF2_Reader_SetSerialCollectiveCallbacks(reader);
  return reader;
}

OTF2_EvtReaderCallbacks* counting_callbacks() {
  OTF2_EvtReaderCallbacks* callbacks = OTF2_EvtReaderCallbacks_New();
#define RUBATO_COUNT(kind) OTF2_EvtReaderCallbacks_Set##kind##Callback(callbacks, count)
  RUBATO_COUNT(Enter);
  RUBATO_COUNT(Leave);
  RUBATO_COUNT(MpiSend);
  RUBATO_COUNT(MpiRecv);
  RUBATO_COUNT(MpiIsend);
  RUBATO_COUNT(MpiIsendComplete);
  RUBATO_COUNT(MpiIrecvRequest);
  RUBATO_COUNT(MpiIrecv);
  RUBATO_COUNT(MpiRequestTest);
  RUBATO_COUNT(MpiRequestCancelled);
  RUBATO_COUNT(MpiCollectiveBegin);
  RUBATO_COUNT(MpiCollectiveEnd);
  RUBATO_COUNT(NonBlockingCollectiveRequest);
  RUBATO_COUNT(NonBlockingCollectiveComplete);
  RUBATO_COUNT(CommCreate);
  RUBATO_COUNT(CommDestroy);
  RUBATO_COUNT(ParameterUnsignedInt);
  RUBATO_COUNT(BufferFlush);
  RUBATO_COUNT(MeasurementOnOff);
  RUBATO_COUNT(ThreadBegin);
  RUBATO_COUNT(ThreadEnd);
  RUBATO_COUNT(ProgramBegin);
  RUBATO_COUNT(ProgramEnd);
  RUBATO_COUNT(RmaWinCreate);
  RUBATO_COUNT(RmaWinDestroy);
  RUBATO_COUNT(RmaCollectiveBegin);
  RUBATO_COUNT(RmaCollectiveEnd);
  RUBATO_COUNT(RmaPut);
  RUBATO_COUNT(RmaGet);
  RUBATO_COUNT(RmaOpCompleteNonBlocking);
  RUBATO_COUNT(RmaOpCompleteRemote);
#undef RUBATO_COUNT
  return callbacks;
}

}  // namespace

std::vector<uint64_t> locations_of(const std::string& anchor) {
  OTF2_Reader* reader = open_reader(anchor);
  OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
  OTF2_GlobalDefReaderCallbacks* callbacks = OTF2_GlobalDefReaderCallbacks_New();
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, on_location);
  std::vector<uint64_t> locations;
  OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, &locations);
  OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
  uint64_t read = 0;
  OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &read);
  OTF2_Reader_CloseGlobalDefReader(reader, definitions);
  OTF2_Reader_Close(reader);
  return locations;
}

uint64_t decode_bare(const std::string& anchor, const std::vector<uint64_t>& locations) {
  OTF2_Reader* reader = open_reader(anchor);
  for (const uint64_t location : locations) OTF2_Reader_SelectLocation(reader, location);
  OTF2_Reader_OpenEvtFiles(reader);
  OTF2_EvtReaderCallbacks* callbacks = counting_callbacks();
  uint64_t records = 0;
  for (const uint64_t location : locations) {
    OTF2_EvtReader* events = OTF2_Reader_GetEvtReader(reader, location);
    OTF2_Reader_RegisterEvtCallbacks(reader, events, callbacks, &records);
    uint64_t read = 0;
    OTF2_Reader_ReadAllLocalEvents(reader, events, &read);
    OTF2_Reader_CloseEvtReader(reader, events);
  }
  OTF2_EvtReaderCallbacks_Delete(callbacks);
  OTF2_Reader_CloseEvtFiles(reader);
  OTF2_Reader_Close(reader);
  return records;
}
