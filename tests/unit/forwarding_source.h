// A text trace, read without changes: the base of sources in tests that differ in one respect.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "replay/sources/text_source.h"

namespace rubato {

class ForwardingSource : public EventSource {
 public:
  explicit ForwardingSource(const std::string& text) : source_(parse_text_trace(text)) {}
  const TraceDefinitions& definitions() const override { return source_->definitions(); }
  bool read(int timeline, Block& block) override { return source_->read(timeline, block); }
  void rewind() override { source_->rewind(); }
  void keep_records(bool keep) override { source_->keep_records(keep); }
  std::vector<double> side_records(const SideLocation& side) override {
    return source_->side_records(side);
  }
  Counts counts() const override { return source_->counts(); }

 private:
  std::unique_ptr<EventSource> source_;
};

}  // namespace rubato
