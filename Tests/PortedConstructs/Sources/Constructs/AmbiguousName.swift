import Foundation
import Queries

func all() -> Predicate {
    fatalError("There is no store.")
}
