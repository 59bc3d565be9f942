// What everything that comes after the first paint looks like.
import "../styles/later.css";
