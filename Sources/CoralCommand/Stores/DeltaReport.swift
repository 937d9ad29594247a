import Coral

/// Differences as text: one line for each difference, followed by the summary. The signs are those of an import's plan.
enum DeltaReport {
    static func text(of delta: GraphDelta) -> String {
        var text = ""
        for change in delta.changes {
            switch change {
            case .inserted(let record): text += TextStyle.green.text("+ \(line(record))") + "\n"
            case .deleted(let record): text += TextStyle.red.text("- \(line(record))") + "\n"
            case .updated(let update): text += lines(update)
            }
        }
        return text + delta.summary + "\n"
    }

    private static func line(_ record: GraphRecord) -> String {
        let values = record.attributes.filter { !$0.value.isNull }.map {
            "\($0.name) = \(ValueText.text($0.value))"
        }
        return "\(name(RecordSubject(entity: record.entity, id: record.id)))  \(values.joined(separator: ", "))"
    }

    private static func name(_ subject: RecordSubject) -> String { TextStyle.bold.text("\(subject)") }

    private static func lines(_ update: RecordUpdate) -> String {
        let subject = name(RecordSubject(entity: update.entity, id: update.id))
        var text = ""
        switch update.oldID {
        case .same: break
        case .renamed(let former): text += "~ \(subject): formerly \(former)\n"
        case .unknown: text += "~ \(subject): former key not known\n"
        }
        for change in update.attributes {
            let (old, new) = (change.old.map(ValueText.text) ?? "absent", change.new.map(ValueText.text) ?? "absent")
            text += "~ \(subject).\(change.name): \(old) -> \(new)\n"
        }
        for change in update.relationships {
            switch change.change {
            case .members(let removed, let added):
                let parts = added.prefix(6).map { "+\($0)" } + removed.prefix(6).map { "-\($0)" }
                let count = added.count + removed.count
                let more = count > parts.count ? " … (\(count))" : ""
                text += "> \(subject).\(change.name): \(parts.joined(separator: " "))\(more)\n"
            case .replaced(let old, let new):
                text += "> \(subject).\(change.name): \(target(old)) -> \(target(new))\n"
            }
        }
        return text
    }

    private static func target(_ target: RelationshipTarget?) -> String {
        guard let target else { return "absent" }
        let ids = target.ids
        if ids.isEmpty { return "nothing" }
        return ids.prefix(6).map(\.text).joined(separator: " ") + (ids.count > 6 ? " … (\(ids.count))" : "")
    }
}
